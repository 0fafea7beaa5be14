#pragma D option quiet
struct in6_addr { char bytes[16]; }; typedef struct in6_addr in6_addr_t; typedef uint32_t ipaddr_t;
BEGIN { this->p = (char *)alloca(16); inet_ntoa6(this->p); }
BEGIN { inet_ntoa6(3); }
BEGIN { inet_ntoa6((in6_addr_t *)arg1, 1); inet_ntoa6((in6_addr_t *)arg1, pid); inet_ntoa6((in6_addr_t *)arg1, "1"); }
BEGIN { inet_ntoa(arg0); }
BEGIN { inet_ntoa((uint64_t *)alloca(16)); }
BEGIN { inet_ntop(2, "text"); }
BEGIN { link_ntop(1, 77); }
BEGIN { inet_ntoa(alloca(4)); inet_ntoa((ipaddr_t *)alloca(4)); inet_ntoa6((in6_addr_t *)arg1); inet_ntop(2, (void *)arg1); }
