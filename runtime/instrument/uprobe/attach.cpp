// Attaching with bisection. Tested by tests/unit/instrument/uprobe_test.cpp.
#include "runtime/instrument/uprobe/attach.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>

namespace dvm::runtime {
namespace {

// Errors that may be the fault of one probe: an instruction that the kernel cannot decode, relocate or read, a bad offset.
bool may_be_one_probe(int error_number) {
  constexpr std::array kOfAProbe = {524 /* ENOTSUPP */, EINVAL, EIO, ENOEXEC, EILSEQ, EOPNOTSUPP, EFAULT, ERANGE};
  return std::find(kOfAProbe.begin(), kOfAProbe.end(), error_number) != kOfAProbe.end();
}

UprobeBatch part(const UprobeBatch& batch, size_t from, size_t count) {
  UprobeBatch result = batch;
  result.offsets = batch.offsets.subspan(from, count);
  result.cookies = batch.cookies.subspan(from, count);
  return result;
}

Error attach_error(const UprobeBatch& batch, const Probe& probe, int error_number) {
  return kernel_error(
      fmt::format("cannot probe {}:{} ({} at offset {:#x})", probe.module, probe.function, batch.path, batch.offsets.front()),
      error_number);
}

}  // namespace

Status attach_uprobes(const UprobeBatch& batch, std::span<const Probe* const> probes, std::vector<FileDescriptor>& links,
                      std::vector<Refused>& refused) {
  LinkResult result = link_uprobes(batch);
  if (result.link) {
    links.push_back(std::move(result.link));
    return {};
  }
  const size_t count = batch.offsets.size();
  const Error error = attach_error(batch, *probes.front(), result.error_number);
  if (!may_be_one_probe(result.error_number)) return error;
  if (count == 1) {
    refused.push_back({probes.front(), error.message});
    return {};
  }
  const size_t half = count / 2;
  if (Status status = attach_uprobes(part(batch, 0, half), probes.first(half), links, refused); !status) return status;
  return attach_uprobes(part(batch, half, count - half), probes.subspan(half), links, refused);
}

}  // namespace dvm::runtime
