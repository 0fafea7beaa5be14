inline int EPERM_ = 1;
inline int EAGAIN_ = 11;
inline int ERANGE_ = 34;

replay:::firing
/arg1 >= EPERM_ && arg1 <= ERANGE_ && arg1 != EAGAIN_/
{
	@errors[execname, arg1] = count();
}
END { printa("%-16s errno %-3d %@8d\n", @errors); }
