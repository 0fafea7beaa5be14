#pragma once
// Reads declarations of providers that are embedded in a program. The notes of markers have no types:
//
//   .dvm.provider   provider shop { probe sold__item(int, string); };\0 ...
//
// `dvm header` puts them into the header, dtrace -G into the object. Linkers merge equal ones. They are untrusted. Consumer
// context.

#include <string>
#include <string_view>
#include <vector>

namespace dvm::runtime {

inline constexpr std::string_view kProviderSection = ".dvm.provider";

// The declarations of one provider. Empty: the file has none, or cannot be read.
std::vector<std::string> read_declared_providers(const std::string& path, std::string_view provider);

}  // namespace dvm::runtime
