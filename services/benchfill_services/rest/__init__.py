"""The REST service, one file a resource."""
