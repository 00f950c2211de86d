"""Entities, policies and ports: who may read what, and what a turn leaves behind. Import the module of the word that you need."""
