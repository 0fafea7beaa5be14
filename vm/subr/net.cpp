// Byte order and network addresses as text. Covered by tests/conformance/subr.

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>

#include "vm/subr/subr.h"

namespace dvm::vm {

namespace {

static_assert(std::endian::native == std::endian::little);

uint64_t swap16(State& state) noexcept { return __builtin_bswap16(static_cast<uint16_t>(argument(state, 0))); }
uint64_t swap32(State& state) noexcept { return __builtin_bswap32(static_cast<uint32_t>(argument(state, 0))); }
uint64_t swap64(State& state) noexcept { return __builtin_bswap64(argument(state, 0)); }

constexpr size_t kTextSize = 64;
constexpr uint64_t kInet = 2, kInet6 = 10;           // AF_INET and AF_INET6 of Linux
constexpr uint64_t kEthernet = 1, kInfiniband = 32;  // its ARPHRD_*

char* put_ipv4(char* to, const std::byte* address) {
  for (int i = 0; i < 4; i++) {
    if (i != 0) *to++ = '.';
    to = std::to_chars(to, to + 4, std::to_integer<unsigned>(address[i])).ptr;
  }
  return to;
}

struct Run {
  unsigned begin = 8, length = 0;
};

// The first of the longest runs of zero groups; one group alone is not shortened.
Run longest_zeros(const std::array<unsigned, 8>& groups) {
  Run best, run{0, 0};
  for (unsigned i = 0; i < 8; i++) {
    run = groups[i] != 0 ? Run{i + 1, 0} : Run{run.begin, run.length + 1};
    if (run.length > best.length) best = run;
  }
  return best.length > 1 ? best : Run{};
}

// ::ffff:a.b.c.d and ::a.b.c.d embed an IPv4 address, which inet_ntoa6() shows alone; ::1 is the loopback address.
bool embeds_ipv4(const Run& zeros, const std::array<unsigned, 8>& groups) {
  if (zeros.begin != 0) return false;
  return (zeros.length == 5 && groups[5] == 0xffff) || zeros.length == 6 || (zeros.length == 7 && groups[7] > 1);
}

template <bool is_embedded_alone>
char* put_ipv6(char* to, const std::byte* address) {
  std::array<unsigned, 8> groups;
  for (unsigned i = 0; i < 8; i++)
    groups[i] = std::to_integer<unsigned>(address[2 * i]) << 8 | std::to_integer<unsigned>(address[2 * i + 1]);
  Run zeros = longest_zeros(groups);
  const bool mapped = embeds_ipv4(zeros, groups);
  if (mapped && is_embedded_alone) return put_ipv4(to, address + 12);
  if (mapped) zeros.length = std::min(zeros.length, 6U);
  for (unsigned i = 0; i < (mapped ? 6 : 8);) {
    if (i == zeros.begin) {
      *to++ = ':';
      i += zeros.length;
      if (i == 8) *to++ = ':';
      continue;
    }
    if (i != 0) *to++ = ':';
    to = std::to_chars(to, to + 4, groups[i++], 16).ptr;
  }
  if (!mapped) return to;
  *to++ = ':';
  return put_ipv4(to, address + 12);
}

// Bytes in hexadecimal, parted by colons.
template <unsigned size>
char* put_hardware(char* to, const std::byte* address) {
  static constexpr char kDigits[] = "0123456789abcdef";
  for (unsigned i = 0; i < size; i++) {
    if (i != 0) *to++ = ':';
    const auto byte = std::to_integer<unsigned>(address[i]);
    *to++ = kDigits[byte >> 4], *to++ = kDigits[byte & 15];
  }
  return to;
}

uint64_t address_text(State& state, uint64_t address, size_t size, char* (*put)(char*, const std::byte*)) noexcept {
  const std::byte* from = load_bytes(state, address, size);
  if (!from) return 0;
  char text[kTextSize];
  return scratch_string(state, {text, static_cast<size_t>(put(text, from) - text)});
}

}  // namespace

uint64_t subr_htons(State& state) noexcept { return swap16(state); }
uint64_t subr_htonl(State& state) noexcept { return swap32(state); }
uint64_t subr_htonll(State& state) noexcept { return swap64(state); }
uint64_t subr_ntohs(State& state) noexcept { return swap16(state); }
uint64_t subr_ntohl(State& state) noexcept { return swap32(state); }
uint64_t subr_ntohll(State& state) noexcept { return swap64(state); }

uint64_t subr_inet_ntoa(State& state) noexcept { return address_text(state, argument(state, 0), 4, put_ipv4); }
uint64_t subr_inet_ntoa6(State& state) noexcept {
  const bool is_full = argument_count(state) > 1 && argument(state, 1) != 0;
  return address_text(state, argument(state, 0), 16, is_full ? put_ipv6<false> : put_ipv6<true>);
}

uint64_t subr_inet_ntop(State& state) noexcept {
  switch (static_cast<uint32_t>(argument(state, 0))) {
    case kInet:
      return address_text(state, argument(state, 1), 4, put_ipv4);
    case kInet6:
      return address_text(state, argument(state, 1), 16, put_ipv6<false>);
    default:
      state.set_fault(dif::Fault::illop);
      return 0;
  }
}

uint64_t subr_link_ntop(State& state) noexcept {
  switch (static_cast<uint32_t>(argument(state, 0))) {
    case kEthernet:
      return address_text(state, argument(state, 1), 6, put_hardware<6>);
    case kInfiniband:
      return address_text(state, argument(state, 1), 20, put_hardware<20>);
    default:
      state.set_fault(dif::Fault::illop);
      return 0;
  }
}

}  // namespace dvm::vm
