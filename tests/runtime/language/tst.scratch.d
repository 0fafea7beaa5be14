/* A later clause of a firing reads what an earlier one has allocated, and what it allocates itself lies elsewhere. */
#pragma D option quiet
BEGIN
{
	this->four = (struct sockaddr_in *)alloca(sizeof (struct sockaddr_in));
	this->four->sin_family = AF_INET;
	this->four->sin_port = htons(443);
	this->four->sin_addr.s_addr = htonl(0x0a000001);
	this->cpu = curcpu;
}

BEGIN
/this->four->sin_family == AF_INET/
{
	this->text = inet_ntop(AF_INET, &this->four->sin_addr);
	printf("%s:%d %d\n", this->text, ntohs(this->four->sin_port), this->cpu->cpu_id == cpu);
}

BEGIN
{
	this->copy = (char *)alloca(8);
	bcopy("granite", this->copy, 8);
	printf("%s %s %x\n", this->text, stringof(this->copy), ntohl(this->four->sin_addr.s_addr));
	exit(0);
}
