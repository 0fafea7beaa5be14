// Runs cpp. Covered by tests/runtime/scenarios/test_preprocessor.py.

#include "cmd/preprocess.h"

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>
#include <utility>

#include "cmd/header_folder.h"
#include "cmd/plain_declarations.h"
#include "common/run_program.h"
#include "runtime/process/process.h"

namespace dvm::cmd {
namespace {

using File = std::unique_ptr<std::FILE, int (*)(std::FILE*)>;

// A file without a name, which does not fill up as a pipe does.
Result<File> temporary(const std::string& content) {
  File file(std::tmpfile(), std::fclose);
  if (!file || std::fwrite(content.data(), 1, content.size(), file.get()) != content.size() || std::fflush(file.get()) != 0 ||
      lseek(fileno(file.get()), 0, SEEK_SET) != 0)
    return Error{fmt::format("could not write a temporary file: {}", std::strerror(errno))};
  return file;
}

std::string read_all(std::FILE* file) {
  std::rewind(file);
  std::string text;
  char buffer[1 << 16];
  while (const size_t size = std::fread(buffer, 1, sizeof buffer, file)) text.append(buffer, size);
  return text;
}

// GCC's spellings of C's words, which mean the same in headers that do not look for GCC.
constexpr std::pair<std::string_view, std::string_view> kWords[] = {
    {"__extension__", ""},
    {"__inline", "inline"},
    {"__inline__", "inline"},
    {"__restrict", "restrict"},
    {"__restrict__", "restrict"},
    {"__const", "const"},
    {"__volatile__", "volatile"},
    {"__volatile", "volatile"},
    {"__thread", ""},
    {"_Thread_local", ""},
    {"__signed", "signed"},
    {"__signed__", "signed"},
    {"__const__", "const"},
    {"_Noreturn", ""},
};

// The macros that DTrace defines. The platform's macros that are not reserved names (linux, unix) are left undefined. Without
// __GNUC__, system headers use none of GCC's extensions, but for two names, and by plain C99 they define few functions: D can
// read neither. `wrapped` is the folder of a sys/cdefs.h that comes before the system's.
std::vector<std::string> command(const compiler::Source& source, const Preprocessor& cpp, const std::string& wrapped) {
  const std::string version = fmt::format("-D__SUNW_D_VERSION=0x{:08x}", cpp.version);
  std::vector<std::string> words = {cpp.program,  "-D__SUNW_D=1", "-D__SUNW_D_64=1",           version, "-Ulinux", "-Uunix",
                                    "-U__GNUC__", "-std=c99",     "-D__builtin_va_list=void *"};
  for (const auto& [word, meaning] : kWords) words.push_back(fmt::format("-D{}={}", word, meaning));
  words.insert(words.end(), cpp.arguments.begin(), cpp.arguments.end());
  const std::filesystem::path folder = source.is_description ? "" : std::filesystem::path(source.name).parent_path();
  words.insert(words.end(), {"-iquote", folder.empty() ? "." : folder.string(), "-isystem", wrapped, "-"});
  return words;
}

// errors: null: standard error.
Status run(const std::vector<std::string>& words, std::FILE* in, std::FILE* out, std::FILE* errors) {
  if (words[0] == "cpp" && !runtime::find_program("cpp"))
    return Error{"-C needs the C preprocessor, but there is no cpp in the PATH (Debian's package is cpp)"};
  std::vector<HandedFile> files = {{fileno(in), STDIN_FILENO}, {fileno(out), STDOUT_FILENO}};
  if (errors) files.emplace_back(fileno(errors), STDERR_FILENO);
  const Result<int> status = run_program(words[0], words, files);
  if (!status) return status.error();
  return *status == 0 ? Status() : Error{"Preprocessor failed to process input program"};
}

// cpp chokes on "#!"; the newline stays, so that lines count the same.
std::string without_interpreter(const std::string& text) {
  return text.starts_with("#!") ? text.substr(std::min(text.find('\n'), text.size())) : text;
}

}  // namespace

Status preprocess(compiler::Source& source, const Preprocessor& preprocessor, std::string* messages) {
  Result<File> in = temporary(without_interpreter(source.text));
  Result<File> out = temporary(""), errors = temporary("");
  if (!in) return in.error();
  if (!out) return out.error();
  if (!errors) return errors.error();
  const Result<HeaderFolder> wrapped = HeaderFolder::make();
  if (!wrapped) return wrapped.error();
  const Status ran =
      run(command(source, preprocessor, wrapped->path()), in->get(), out->get(), messages ? errors->get() : nullptr);
  if (messages) *messages = read_all(errors->get());
  if (!ran) return Error{fmt::format("failed to compile script {}: {}", source.name, ran.error().message)};
  source.original = std::exchange(source.text, plain_declarations(read_all(out->get())));
  return {};
}

}  // namespace dvm::cmd
