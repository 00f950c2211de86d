"""Application services: what happens when somebody asks, decides, or a source changes. Import the module that you need."""
