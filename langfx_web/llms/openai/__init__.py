"""The Responses wire of OpenAI."""
