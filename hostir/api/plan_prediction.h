// Predicts the time and memory of a fusion: lowers it and runs it without values.
//
// If all ranks do the same, rank 0 runs alone on behalf of all: it has the largest box of every
// value. A prediction then takes as long for 1,024 ranks as for one. Where they do not (a `where`,
// send and recv), all ranks run.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "hostir/api/program_options.h"
#include "hostir/passes/mesh_moves.h"
#include "hostir/support/text_numbers.h"

namespace hostir::api {

struct Prediction {
  int64_t time_ns = 0;
  int64_t peak_bytes = 0;  // of the rank that needs most
  std::vector<interp::CollectiveCount> collectives;
  /// Parameters, then results, as lowered.
  std::vector<std::pair<std::string, Sharding>> shardings;
  Explanation explanation;  // of the reshards
};

class Predictor {
 public:
  enum class Ranks : uint8_t { kOneForAll, kAll };
  /// `request` names the backend `shapes` and the machine whose times are predicted. All sizes must
  /// be known.
  Predictor(interp::BackendRequest request, SizeBindings sizes, Ranks ranks = Ranks::kOneForAll,
            Overlap overlap = Overlap::kNone)
      : request_(std::move(request)), sizes_(std::move(sizes)), ranks_(ranks), overlap_(overlap) {}

  /// `program` has the fusion and its mesh. All programs given to one predictor differ only in
  /// meshes, shardings and the number of layers. Errors: those of lowering and running.
  Expected<Prediction> predict(const Program& program, const std::string& fusion);

 private:
  /// nullopt if a prediction for the same shardings is known; its key is then in `key`.
  Expected<std::optional<interp::Prepared>> prepare(const Program& program,
                                                    const std::string& fusion, std::string& key);
  /// The shardings of all values and results, after propagation.
  std::string key_of(const Program& program, const Function& propagated);

  interp::BackendRequest request_;
  SizeBindings sizes_;
  Ranks ranks_;
  Overlap overlap_;
  std::optional<Machine> file_machine_;  // used as the cost model of lowering, as in `run`
  // By meshes: candidates on the same meshes need the same reshards.
  std::map<std::string, std::unique_ptr<MeshMoves>> moves_;
  std::unordered_map<std::string, Prediction> known_;  // by key
  TextNumbers numbers_;                                // of texts in keys
};

}  // namespace hostir::api
