"""What is known of torch's functions before they run: names, arguments, costs."""
