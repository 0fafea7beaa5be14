#pragma once
// Finds and loads the plugin that translates DIF. It lies in lib/dvm beside the folder of the program, or further up in a build
// tree. Consumer context.

#include <string>

#include "vm/engine/native/translator.h"

namespace dvm::vm::native {

inline constexpr const char* kPluginFile = "dvm-llvm.so";

struct LoadedTranslator {
  const TranslatorPlugin* translator = nullptr;
  std::string problem;  // why it could not be loaded, with the name of the file; empty: it was loaded
};

// Loads the plugin from a file.
LoadedTranslator load_translator(const std::string& path);
// Loads the plugin at the first call. Any thread may call it.
const LoadedTranslator& translator();

}  // namespace dvm::vm::native
