"""What an arena answers, as frozen values; a test holds them against its OpenAPI document."""
