"""Steps 5 to 8 of the figure: utilities, best predictions, decisional states and the events between them."""
