"""Application: settings, services, commands, workers and site."""
