replay:::firing { }
