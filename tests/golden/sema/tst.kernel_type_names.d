/* Types that scripts know from sys/types.h and sys/dtrace.h of illumos */
offset_t a; u_offset_t b; diskaddr_t c; len_t d; pgcnt_t e; spgcnt_t f; rlim_t g; pri_t h; cnt_t i; index_t j; sysid_t k;
use_t l; unchar m; lwpid_t n; ctid_t o; datalink_id_t p; thread_t q; pthread_t r; size32_t s; ssize32_t t; caddr32_t u; time32_t v;
quad_t w; u_quad_t x;
dtrace_id_t y; dtrace_epid_t z; dtrace_aggid_t aa; dtrace_specid_t ab; dtrace_cacheid_t ac; dtrace_aggvarid_t ad; dtrace_optval_t ae;
dtrace_provider_id_t af;
BEGIN { trace(sizeof (pri_t) + sizeof (lwpid_t) + sizeof (offset_t)); trace((pri_t)-1 < 0); trace((len_t)-1 < 0); }
