#pragma once
// The files that a build needs for a provider declaration: the header with its macros, and the object that dtrace -G links.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cmd/script.h"

namespace dvm::cmd {

inline constexpr int kBadUsage = 2;  // the exit status

// A provider's probe as C names it.
struct ProbeNames {
  std::string symbol, macro, note;  // dvm_disk_start__io, DISK_START_IO, start__io
};
ProbeNames probe_names(const std::string& provider, const std::string& probe);

// "disk.EXTENSION" for "dir/disk.d"; empty: the source is no file with such a name.
std::string file_beside(const compiler::Source& source, std::string_view extension);

struct DeclaringSources {
  std::vector<compiler::Source> sources;
  std::vector<compiler::ProviderDesc> providers;  // of all sources
  dif::Options options;
};
// Reads and compiles the sources. Nothing: there were errors, and they have been shown.
std::optional<DeclaringSources> declared_providers(const ScriptOptions& script);
// The same for the first `count` of sources that have been compiled; warnings and the reports of -v are not shown again.
std::optional<DeclaringSources> providers_of_first(size_t count, const DeclaringSources& all, const ScriptOptions& script);

// dtrace -h; output "-": standard output; empty: named after the script. Messages name the caller. Returns the exit status.
int write_probe_header(const ScriptOptions& script, const std::string& output, const char* caller);

// dtrace -G, for objects that were compiled with such a header, or with one of SystemTap's dtrace. Each script makes an object.
int write_probe_object(const ScriptOptions& script, const std::string& output, const std::vector<std::string>& objects);

}  // namespace dvm::cmd
