"""What an author writes about one diagram, and a site about all of them."""
