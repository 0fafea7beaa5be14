/* Addresses of networks, as Linux has them. A script may define the types itself. */
inline int AF_INET = 2;
inline int AF_INET6 = 10;
inline int ARPHRD_ETHER = 1;
inline int ARPHRD_INFINIBAND = 32;

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
