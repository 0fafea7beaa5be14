int shown;

replay:::firing
/shown < 40/
{
	shown++;
	trace(execname);
	trace(arg1);
	trace(shown);
}
