/* The addresses of sockets, as system calls take them. */
#pragma D option quiet
BEGIN {
	printf("%d %d %d %d\n", sizeof (struct sockaddr), sizeof (struct sockaddr_in), sizeof (struct sockaddr_in6), sizeof (struct sockaddr_un));
	printf("%d %d\n", offsetof(struct sockaddr_in, sin_addr), offsetof(struct sockaddr_in6, sin6_addr));
	this->six = (struct sockaddr_in6 *)alloca(sizeof (struct sockaddr_in6));
	this->six->sin6_family = AF_INET6;
	this->six->sin6_addr.s6_addr[0] = 0xfe;
	this->six->sin6_addr.s6_addr[1] = 0x80;
	this->six->sin6_addr.s6_addr[15] = 9;
	printf("%s %s\n", inet_ntoa6(&this->six->sin6_addr), inet_ntop(this->six->sin6_family, &this->six->sin6_addr));
	this->four = (struct sockaddr_in *)this->six;
	this->four->sin_port = htons(8080);
	this->four->sin_addr.s_addr = htonl(0x7f000001);
	printf("%s:%d\n", inet_ntoa(&this->four->sin_addr.s_addr), ntohs(this->four->sin_port));
	exit(0);
}
