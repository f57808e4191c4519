/// \file
/// Reads and writes those members of the store's records whose values become parts of paths,
/// options or names. A record may have been written by anybody, so each is checked as it is read
/// (Support/JsonRecord.h).
#pragma once

#include "Support/JsonRecord.h"

#include <string>
#include <vector>

namespace carve {

/// Empty, or one component of a path: the name of a file or of an entry of the store.
struct FileNameValue {
  std::string &Text;
};
/// One component of a path each.
struct EntryNameValues {
  std::vector<std::string> &Texts;
};
/// Empty, or an architecture such as `sm_90`.
struct ArchValue {
  std::string &Text;
};
/// Empty, or a path that no program takes for an option.
struct PathValue {
  std::string &Text;
};

inline llvm::json::Value toValue(const FileNameValue &V) { return toValue(V.Text); }
inline llvm::json::Value toValue(const EntryNameValues &V) { return toValue(V.Texts); }
inline llvm::json::Value toValue(const ArchValue &V) { return toValue(V.Text); }
inline llvm::json::Value toValue(const PathValue &V) { return toValue(V.Text); }

bool readValue(const llvm::json::Value &V, FileNameValue To, llvm::json::Path P);
bool readValue(const llvm::json::Value &V, EntryNameValues To, llvm::json::Path P);
bool readValue(const llvm::json::Value &V, ArchValue To, llvm::json::Path P);
bool readValue(const llvm::json::Value &V, PathValue To, llvm::json::Path P);

} // namespace carve
