// The providers vminfo and sysinfo: what increments a statistic of the kernel. arg0 is the increment; arg1, DTrace's address of
// the statistic, is 0. Covered by tests/unit/instrument/kernel_provider_test.cpp and tests/runtime/scenarios/test_io.py.

#include "runtime/provider/kernel_rows.h"
#include "runtime/provider/providers.h"

namespace dvm::runtime {
namespace {

using Is = KernelCondition::Is;

KernelEvent by(KernelEvent event, KernelWord increment) {
  event.args[0] = increment, event.args[1] = constant(0);
  return event;
}
KernelEvent by_one(KernelEvent event) { return by(std::move(event), constant(1)); }

// Faults hand on the address, the registers and the processor's error code, whose lowest bit says that the page was there. Where
// faults are disabled, as while a probe captures memory, the kernel does not bring in the page. Reading the counter disables them
// once more, so it is at least 1.
std::vector<KernelProbe> vminfo_probes() {
  constexpr int32_t kProtection = 1;
  const KernelCondition forbidden{handed(2), Is::different, 0, {}, kProtection};
  const KernelCondition own_address{handed(0), Is::less, 0};
  const KernelCondition its_address{handed(0), Is::greater, -1};  // of the process, as where the kernel copies a result to it
  const KernelCondition is_served{of_this_thread("pagefault_disabled"), Is::less, 2};
  return {
      {"as_fault", {by_one(at("page_fault_user")), by_one(at("page_fault_kernel", {its_address, is_served}))}},
      {"prot_fault",
       {by_one(at("page_fault_user", {forbidden})), by_one(at("page_fault_kernel", {its_address, is_served, forbidden}))}},
      {"kernel_asflt", {by_one(at("page_fault_kernel", {own_address}))}},
      {"pgrrun", {by_one(at("mm_vmscan_kswapd_wake"))}},
      {"scan", {by(at("mm_vmscan_lru_isolate"), handed(3))}},
      {"dfree", {by(at("mm_vmscan_lru_shrink_inactive"), handed(2))}},
      {"anonfree", {}},
      {"anonpgin", {}},
      {"anonpgout", {}},
      {"cow_fault", {}},
      {"execfree", {}},
      {"execpgin", {}},
      {"execpgout", {}},
      {"fsfree", {}},
      {"fspgin", {}},
      {"fspgout", {}},
      {"hat_fault", {}},
      {"maj_fault", {}},
      {"pgfrec", {}},
      {"pgin", {}},
      {"pgout", {}},
      {"pgpgin", {}},
      {"pgpgout", {}},
      {"pgrec", {}},
      {"pgswapin", {}},
      {"pgswapout", {}},
      {"rev", {}},
      {"softlock", {}},
      {"swapin", {}},
      {"swapout", {}},
      {"zfod", {}},
  };
}

constexpr uint16_t kRead = 0, kWrite = 1, kPread64 = 17, kPwrite64 = 18, kReadv = 19, kWritev = 20, kClone = 56, kFork = 57,
                   kVfork = 58, kExecve = 59, kSemget = 64, kSemop = 65, kSemctl = 66, kMsgget = 68, kMsgsnd = 69, kMsgrcv = 70,
                   kMsgctl = 71, kSemtimedop = 220, kPreadv = 295, kPwritev = 296, kExecveat = 322, kPreadv2 = 327,
                   kPwritev2 = 328, kClone3 = 435;

KernelEvent moved_bytes(const std::vector<uint16_t>& calls) {
  const KernelWord result = of_kind(Operand::Kind::result);
  return by(call("sys_exit", calls, {{result, Is::greater, 0}}), result);
}

std::vector<KernelProbe> sysinfo_probes() {
  const std::vector<uint16_t> reads = {kRead, kPread64, kReadv, kPreadv, kPreadv2};
  const std::vector<uint16_t> writes = {kWrite, kPwrite64, kWritev, kPwritev, kPwritev2};
  const KernelCondition runnable{handed(kState), Is::equal, 0};
  const KernelCondition sleeping{handed(kState), Is::different, 0};
  const KernelCondition is_preempted{handed(kPreempted), Is::different, 0};  // before it could go to sleep
  const KernelCondition is_not_idle{handed(kGoes, "pid"), Is::different, 0};
  constexpr int32_t kOperation = 0xff;  // REQ_OP_MASK
  const auto request = [&](int64_t operation) {
    return by_one(at("block_rq_issue", {{handed(0, "cmd_flags"), Is::equal, operation, {}, kOperation}}));
  };
  const auto entry = [](const std::vector<uint16_t>& calls) { return by_one(call("sys_enter", calls)); };
  return {
      {"pswitch", {by_one(at("sched_switch"))}},
      {"inv_swtch",
       {by_one(at("sched_switch", {runnable, is_not_idle})), by_one(at("sched_switch", {sleeping, is_preempted, is_not_idle}))}},
      {"nthreads", {by_one(at("sched_process_fork"))}},
      {"sysread", {entry(reads)}},
      {"syswrite", {entry(writes)}},
      {"readch", {moved_bytes(reads)}},
      {"writech", {moved_bytes(writes)}},
      {"sysexec", {entry({kExecve, kExecveat})}},
      {"sysfork", {entry({kFork, kClone, kClone3})}},
      {"sysvfork", {entry({kVfork})}},
      {"sema", {entry({kSemget, kSemop, kSemctl, kSemtimedop})}},
      {"msg", {entry({kMsgget, kMsgsnd, kMsgrcv, kMsgctl})}},
      {"bread", {request(0)}},
      {"bwrite", {request(1)}},
      {"xcalls", {by_one(at("ipi_send_cpu")), by_one(at("ipi_send_cpumask"))}},
      {"bawrite", {}},
      {"cpu_ticks_idle", {}},
      {"cpu_ticks_kernel", {}},
      {"cpu_ticks_user", {}},
      {"cpu_ticks_wait", {}},
      {"idlethread", {}},
      {"intrblk", {}},
      {"lread", {}},
      {"lwrite", {}},
      {"modload", {}},
      {"modunload", {}},
      {"mutex_adenters", {}},
      {"namei", {}},
      {"phread", {}},
      {"phwrite", {}},
      {"procovf", {}},
      {"rawch", {}},
      {"rcvint", {}},
      {"rw_rdfails", {}},
      {"rw_wrfails", {}},
      {"trap", {}},
      {"ufsdirblk", {}},
      {"ufsiget", {}},
      {"ufsinopage", {}},
      {"ufsipage", {}},
      {"wait_ticks_io", {}},
      {"xmtint", {}},
  };
}

}  // namespace

std::unique_ptr<Provider> make_vminfo_provider() { return make_kernel_provider("vminfo", vminfo_probes); }
std::unique_ptr<Provider> make_sysinfo_provider() { return make_kernel_provider("sysinfo", sysinfo_probes); }

}  // namespace dvm::runtime
