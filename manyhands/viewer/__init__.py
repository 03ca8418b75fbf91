"""The pygame window: replay, live view and human play; GIF and MP4 export."""
