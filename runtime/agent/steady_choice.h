#pragma once
// The choice of the memory that is proposed as steady (inside/steady.h): from /proc/PID/maps, and from what clauses want.

#include <cstdint>
#include <string_view>
#include <vector>

#include "runtime/symbol/maps.h"

namespace dvm::runtime {

// What a maps or smaps file says. The views are of its text.
struct MapsText {
  std::vector<AddressRange> plain;     // readable private memory without a file, by address; not a stack that grows
  AddressRange heap;                   // of these, what brk(2) has made
  std::vector<AddressRange> others;    // all other mappings, by address
  std::vector<std::string_view> code;  // lines of executable mappings
  bool has_keys = false;               // a mapping, of any kind, has a protection key; only smaps shows it
};
// smaps also shows what faults although it is mapped for reading: memory with a protection key, memory registered with
// userfaultfd(2). It is left out.
MapsText read_maps_text(std::string_view text);

// Sorts ranges by address, makes one of those that touch or overlap, and drops empty ones.
void join_ranges(std::vector<AddressRange>& ranges);
// The parts of joined ranges that lie outside of other joined ranges.
std::vector<AddressRange> outside_of(const std::vector<AddressRange>& ranges, const std::vector<AddressRange>& others);

struct SteadyWishes {
  std::vector<uint64_t> wanted;  // addresses, the most urgent first
  AddressRange heap;
  std::vector<AddressRange> active;  // the ranges in use, the most urgent first
};
// True if an address lies in one of the ranges, which may be in any order.
bool is_in_any(const std::vector<AddressRange>& ranges, uint64_t address);
// The best ranges, at most `most`: those that contain wanted addresses, the heap, those in use, then the largest.
std::vector<AddressRange> choose_ranges(std::vector<AddressRange> ranges, const SteadyWishes& wishes, size_t most);

}  // namespace dvm::runtime
