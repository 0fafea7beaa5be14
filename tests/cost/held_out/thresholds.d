inline int LOW = 10;
inline int HIGH = LOW * 8;
inline string TITLE = "within bounds";

replay:::firing
/arg1 >= LOW && arg1 <= HIGH/
{
	@[TITLE, (arg1 - LOW) * 4 / (HIGH - LOW + 1)] = count();
}
