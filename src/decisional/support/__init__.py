"""What every room may use: argument checks, arrays, executors, memory and cost, files."""
