int on;
replay:::firing { on = arg1 > 3; }
replay:::firing /on/ { @ = count(); on = 0; }
