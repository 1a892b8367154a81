#include "hostir/io/npz.h"

#include <zip.h>

#include <algorithm>
#include <filesystem>
#include <memory>

#include "hostir/io/npy.h"

namespace hostir::io {

namespace {

struct DiscardArchive {
  void operator()(zip_t* z) const { zip_discard(z); }
};
using Archive = std::unique_ptr<zip_t, DiscardArchive>;
struct CloseMember {
  void operator()(zip_file_t* f) const { zip_fclose(f); }
};
using Member = std::unique_ptr<zip_file_t, CloseMember>;

// A damaged archive may claim any size. Reject larger members before allocating memory.
constexpr uint64_t kMaxMemberBytes = uint64_t{1} << 36;
constexpr size_t kFirstPieceBytes = size_t{1} << 20;

tl::unexpected<Error> bad(const std::string& path, const std::string& why) {
  return fail(ErrorKind::kRuntime, "npz_format", path + ": not a readable zip archive: " + why);
}

Expected<Archive> open_archive(const std::string& path, int flags) {
  int code = 0;
  Archive archive(zip_open(path.c_str(), flags, &code));
  if (archive) return archive;
  zip_error_t error;
  zip_error_init_with_code(&error, code);
  const std::string why = zip_error_strerror(&error);
  zip_error_fini(&error);
  return bad(path, why);
}

// Reads in pieces that double in size, so a false size in the header does not allocate memory.
Expected<std::vector<std::byte>> read_bytes(zip_file_t* member, size_t size,
                                            const std::string& path) {
  std::vector<std::byte> bytes;
  while (bytes.size() < size) {
    const size_t begin = bytes.size();
    const size_t piece = std::min(size - begin, std::max(kFirstPieceBytes, begin));
    bytes.resize(begin + piece);
    const int64_t got = zip_fread(member, bytes.data() + begin, piece);
    if (got < 0 || static_cast<size_t>(got) != piece) return bad(path, "a member is cut");
  }
  return bytes;
}

std::string tensor_name(std::string member) {
  if (member.size() > 4 && member.ends_with(".npy")) member.resize(member.size() - 4);
  return member;
}

}  // namespace

void ZipReader::Discard::operator()(zip* z) const { zip_discard(z); }

Expected<ZipReader> ZipReader::open(const std::string& path) {
  HOSTIR_ASSIGN_OR_RETURN(Archive archive, open_archive(path, ZIP_RDONLY));
  ZipReader out;
  out.path_ = path;
  out.archive_.reset(archive.release());
  const int64_t n = zip_get_num_entries(out.archive_.get(), 0);
  for (int64_t i = 0; i < n; ++i) {
    const char* name = zip_get_name(out.archive_.get(), static_cast<uint64_t>(i), 0);
    out.names_.emplace_back(name ? name : "");
  }
  std::error_code error;
  out.file_size_ = static_cast<int64_t>(std::filesystem::file_size(path, error));
  return out;
}

Expected<std::vector<std::byte>> ZipReader::read(size_t member) const {
  zip_stat_t stat;
  if (zip_stat_index(archive_.get(), member, 0, &stat) != 0 || (stat.valid & ZIP_STAT_SIZE) == 0 ||
      stat.size > kMaxMemberBytes) {
    return bad(path_, "member " + std::to_string(member) + " has no plausible size");
  }
  const Member file(zip_fopen_index(archive_.get(), member, 0));
  if (!file) return bad(path_, zip_strerror(archive_.get()));
  return read_bytes(file.get(), static_cast<size_t>(stat.size), path_);
}

Expected<NamedTensors> read_npz(const std::string& path) {
  HOSTIR_ASSIGN_OR_RETURN(const ZipReader archive, ZipReader::open(path));
  NamedTensors out;
  for (size_t i = 0; i < archive.names().size(); ++i) {
    HOSTIR_ASSIGN_OR_RETURN(const std::vector<std::byte> bytes, archive.read(i));
    HOSTIR_ASSIGN_OR_RETURN(Tensor tensor, parse_npy(bytes));
    out.emplace_back(tensor_name(archive.names()[i]), std::move(tensor));
  }
  return out;
}

Expected<Tensor> read_npz_member(const std::string& path, const std::string& name) {
  HOSTIR_ASSIGN_OR_RETURN(const ZipReader archive, ZipReader::open(path));
  std::string names;
  for (size_t i = 0; i < archive.names().size(); ++i) {
    const std::string member = tensor_name(archive.names()[i]);
    if (member == name) {
      HOSTIR_ASSIGN_OR_RETURN(const std::vector<std::byte> bytes, archive.read(i));
      return parse_npy(bytes);
    }
    names += (names.empty() ? "" : ", ") + member;
  }
  return fail(ErrorKind::kRuntime, "npz_member",
              path + " has no member \"" + name + "\"; it has " + names);
}

Expected<void> write_zip(const std::string& path,
                         const std::vector<std::pair<std::string, std::string>>& members) {
  HOSTIR_ASSIGN_OR_RETURN(Archive archive, open_archive(path, ZIP_CREATE | ZIP_TRUNCATE));
  for (const auto& [name, content] : members) {
    zip_source_t* source = zip_source_buffer(archive.get(), content.data(), content.size(), 0);
    const int64_t index =
        source ? zip_file_add(archive.get(), name.c_str(), source, ZIP_FL_ENC_UTF_8) : -1;
    if (index < 0) {
      zip_source_free(source);
      return bad(path, zip_strerror(archive.get()));
    }
    zip_set_file_compression(archive.get(), static_cast<uint64_t>(index), ZIP_CM_STORE, 0);
  }
  if (zip_close(archive.get()) != 0) return bad(path, zip_strerror(archive.get()));
  static_cast<void>(archive.release());
  return {};
}

Expected<void> write_npz(const std::string& path, const NamedTensors& tensors) {
  std::vector<std::pair<std::string, std::string>> members;
  for (const auto& [name, tensor] : tensors)
    members.emplace_back(name + ".npy", format_npy(tensor));
  return write_zip(path, members);
}

}  // namespace hostir::io
