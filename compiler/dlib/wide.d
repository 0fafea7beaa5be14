/* Types that GCC has without a declaration. */
typedef struct { unsigned long dvm_low; long dvm_high; } __attribute__((aligned(16))) __int128_t;
typedef struct { unsigned long dvm_low; unsigned long dvm_high; } __attribute__((aligned(16))) __uint128_t;
