"""Projects kept aside: each a folder with its scripts and settings, as a repository has them."""
