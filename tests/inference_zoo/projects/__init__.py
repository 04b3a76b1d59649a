"""Projects that call their models somewhere: in a script, a test, a README or a configuration."""
