"""Pictures of models: what to draw, and the drawing by matplotlib."""
