/* Addresses as text and numbers in network order. inet_ntoa6() shortens the first of the longest runs of zeros. */
#pragma D option quiet
BEGIN
{
	this->v4 = (uint32_t *)alloca(4); *this->v4 = htonl(0xc0a80001);
	this->v6 = (uint8_t *)alloca(16);
	printf("%s %s\n", inet_ntoa(this->v4), inet_ntop(2, this->v4));
	printf("%s ", inet_ntoa6((in6_addr_t *)this->v6)); this->v6[15] = 1; printf("%s ", inet_ntoa6((in6_addr_t *)this->v6));
	this->v6[0] = 0x20; this->v6[1] = 0x01; this->v6[7] = 8; printf("%s\n", inet_ntop(10, this->v6));
	printf("%x %x %x %x\n", htons(0x1234), ntohs(0x1234), htonl(0x12345678), ntohll(0x123456789abcdef0));
}
BEGIN { trace(inet_ntop(1, alloca(16))); printf("not reached\n"); }
BEGIN { exit(0); }
ERROR { printf("fault %d\n", arg4); }
