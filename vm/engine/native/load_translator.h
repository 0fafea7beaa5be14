#pragma once
// Finds and loads the plugin that translates DIF. It lies in lib/dvm beside the folder of the program, or further up in a build
// tree. Consumer context.

#include <string>

#include "vm/engine/native/translator.h"

namespace dvm::vm::native {

inline constexpr const char* kPluginFile = "dvm-llvm.so";

struct LoadedTranslator {
  const TranslatorPlugin* translator = nullptr;
  std::string problem;  // why there is none: names the file
};

// Loads it from a file.
LoadedTranslator load_translator(const std::string& path);
// Loads it when it is first asked for. Any thread may ask.
const LoadedTranslator& translator();

}  // namespace dvm::vm::native
