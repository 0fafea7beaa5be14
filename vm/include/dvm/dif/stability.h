#pragma once
// The stability of an interface, in DTrace's terms, and the versions of D.

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace dvm::dif {

inline constexpr std::array kStabilities = {"Internal", "Private",  "Obsolete", "External",
                                            "Unstable", "Evolving", "Stable",   "Standard"};
inline constexpr std::array kClasses = {"Unknown", "CPU", "Platform", "Group", "ISA", "Common"};

// "Stable/Stable/Common": the stability of the name and of the data, and the class of machines, as positions in the arrays above.
struct Attributes {
  uint8_t name = 6, data = 6, cls = 5;

  bool operator==(const Attributes&) const = default;
  // True if no part is less stable than the minimum's.
  bool reaches(const Attributes& minimum) const { return name >= minimum.name && data >= minimum.data && cls >= minimum.cls; }
};

// The lower stability of each part.
inline Attributes least(const Attributes& a, const Attributes& b) {
  return {std::min(a.name, b.name), std::min(a.data, b.data), std::min(a.cls, b.cls)};
}

// Ignores case.
std::optional<Attributes> parse_attributes(std::string_view text);
std::string print(const Attributes& attributes);

// Attributes as a number, for the value of an option.
inline int64_t pack(const Attributes& a) { return a.name << 16 | a.data << 8 | a.cls; }
inline Attributes unpack_attributes(int64_t value) {
  return {static_cast<uint8_t>(value >> 16), static_cast<uint8_t>(value >> 8), static_cast<uint8_t>(value)};
}

// "1.6.1" as a number; a later version is a larger number. Nothing if the text is not a version.
std::optional<uint32_t> parse_version(std::string_view text);
std::string print_version(uint32_t version);
// True for the versions of D that exist.
bool is_known_version(uint32_t version);
std::vector<std::string> known_versions();
inline constexpr uint32_t kNewestVersion = 2u << 24;

}  // namespace dvm::dif
