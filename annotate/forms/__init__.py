"""What people type, checked before an action sees it."""
