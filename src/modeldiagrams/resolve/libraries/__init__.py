"""What classes of libraries offer: examples, configurations, factories."""
