replay:::firing
{
	this->id = speculation();
	speculate(this->id);
	trace(timestamp);
	trace(execname);
}

replay:::firing /this->id && arg1 % 50 == 7/ { commit(this->id); }
replay:::firing /this->id && arg1 % 50 == 7/ { @kept = count(); }
replay:::firing /this->id && arg1 % 50 != 7/ { discard(this->id); }
