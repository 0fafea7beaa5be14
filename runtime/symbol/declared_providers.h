#pragma once
// Declarations of providers that a program carries beside its markers, whose notes know no types:
//
//   .dvm.provider   provider shop { probe sold__item(int, string); };\0 ...
//
// `dvm header` puts them into the header, dtrace -G into the object. Linkers merge equal ones. Like all of an ELF file they are
// untrusted. Consumer context.

#include <string>
#include <string_view>
#include <vector>

namespace dvm::runtime {

inline constexpr std::string_view kProviderSection = ".dvm.provider";

// The declarations of one provider. Empty: the file has none, or cannot be read.
std::vector<std::string> read_declared_providers(const std::string& path, std::string_view provider);

}  // namespace dvm::runtime
