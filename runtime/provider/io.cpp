// The provider io: requests to disks. Covered by tests/unit/instrument/kernel_provider_test.cpp and
// tests/runtime/scenarios/test_io.py.
//
// A request is one of the block layer to the driver of a disk. Merged requests are one. LVM, RAID and encryption show as requests
// to the disks below them. The translators of block.d make args[] of both probes from these arguments:
//
//   arg0 the request   arg1 address of the disk's name   arg3 operation and flags   arg4 bytes   arg5 sector
//   arg6 bytes that are done   arg7 blk_status_t   arg8 major number of the disk   arg9 its first minor number

#include "runtime/provider/kernel_rows.h"
#include "runtime/provider/providers.h"

namespace dvm::runtime {
namespace {

KernelEvent of_request(std::string tracepoint) {
  KernelEvent event = at(std::move(tracepoint));
  event.args = {handed(0, "&"),
                handed(0, "&q.disk.disk_name"),
                constant(0),
                handed(0, "cmd_flags"),
                handed(0, "__data_len"),
                handed(0, "__sector"),
                constant(0),
                constant(0),
                handed(0, "q.disk.major"),
                handed(0, "q.disk.first_minor")};
  return event;
}

std::vector<KernelProbe> io_probes() {
  KernelEvent done = with_argument(with_argument(of_request("block_rq_complete"), 6, handed(2)), 7, handed(1));
  return {{"start", {of_request("block_rq_issue")}}, {"done", {std::move(done)}}, {"wait-start", {}}, {"wait-done", {}}};
}

}  // namespace

std::unique_ptr<Provider> make_io_provider() { return make_kernel_provider("io", io_probes); }

}  // namespace dvm::runtime
