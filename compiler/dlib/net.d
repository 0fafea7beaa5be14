/* Addresses of networks, as Linux has them. A script may define the types itself. */
inline int AF_UNIX = 1;
inline int AF_INET = 2;
inline int AF_INET6 = 10;
inline int ARPHRD_ETHER = 1;
inline int ARPHRD_INFINIBAND = 32;
#pragma D binding "1.5" AF_INET
#pragma D binding "1.5" AF_INET6

typedef uint32_t ipaddr_t;

struct in_addr {
	ipaddr_t s_addr;
};

typedef struct in6_addr {
	union {
		union {
			uint8_t u6_addr8[16];
			uint16_t u6_addr16[8];
			uint32_t u6_addr32[4];
		} in6_u;
		uint8_t s6_addr[16];
		uint16_t s6_addr16[8];
		uint32_t s6_addr32[4];
	};
} in6_addr_t;

struct sockaddr {
	sa_family_t sa_family;
	char sa_data[14];
};

struct sockaddr_in {
	sa_family_t sin_family;
	in_port_t sin_port;
	struct in_addr sin_addr;
	unsigned char sin_zero[8];
};

struct sockaddr_in6 {
	sa_family_t sin6_family;
	in_port_t sin6_port;
	uint32_t sin6_flowinfo;
	struct in6_addr sin6_addr;
	uint32_t sin6_scope_id;
};

struct sockaddr_un {
	sa_family_t sun_family;
	char sun_path[108];
};
