#pragma once
// Types of the kernel as libbpf has loaded them (BTF).

#include <bpf/btf.h>

#include <memory>

namespace dvm::runtime {

struct FreeBtf {
  void operator()(btf* types) const { btf__free(types); }
};
using BtfTypes = std::unique_ptr<btf, FreeBtf>;

}  // namespace dvm::runtime
