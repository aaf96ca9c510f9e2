"""The application: settings, services, commands, worker and site."""
