// Predicts the time and memory of a fusion: lowers it and runs it without values.
//
// If all ranks do the same, rank 0 runs alone on behalf of all: it has the largest box of every
// value. A prediction then takes as long for 1,024 ranks as for one. Where they do not (a `where`,
// send and recv), all ranks run.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "hostir/api/open/program_options.h"
#include "hostir/api/plan/plan_profile.h"
#include "hostir/passes/homes/axis_homes.h"
#include "hostir/passes/meshes/mesh_moves.h"
#include "hostir/support/text_numbers.h"

namespace hostir::api {

struct Prediction {
  int64_t time_ns = 0;
  int64_t peak_bytes = 0;  // of the rank that needs most
  /// The live bytes of the first rank after each alloc and free, if all ranks are alike; else
  /// empty.
  std::vector<int64_t> live_bytes;
  MemorySplit memory;  // of the first rank, at its peak
  TimeSplit times;     // of the first rank
  std::vector<interp::CollectiveCount> collectives;
  /// Parameters, then results, as lowered.
  std::vector<std::pair<std::string, Sharding>> shardings;
  NamedHomes homes;         // of axes, as lowered
  Explanation explanation;  // of the reshards
};

struct PredictorOptions {
  interp::BackendRequest request;  // the backend `shapes`, and the machine
  SizeBindings sizes;              // all of them
  enum class Ranks : uint8_t { kOneForAll, kAll } ranks = Ranks::kOneForAll;
  Overlap overlap = Overlap::kNone;
  int64_t optimizer_numbers = 0;  // of f32, that are held per element of a trained parameter
};

/// Predictions by key, for predictors on several threads. Safe to call from any.
class KnownPredictions {
 public:
  /// The shardings of all values and results of a propagated fusion, and its meshes.
  std::string key_of(const Program& program, const Function& propagated);
  std::optional<Prediction> find(const std::string& key) const;
  void keep(std::string key, const Prediction& prediction);

 private:
  mutable std::mutex mutex_;
  std::unordered_map<std::string, Prediction> by_key_;
  TextNumbers numbers_;  // of texts in keys
};

/// Used by one thread at a time.
class Predictor {
 public:
  /// `known` must outlive this.
  Predictor(PredictorOptions options, KnownPredictions& known)
      : options_(std::move(options)), known_(known) {}

  enum class Explain : uint8_t { kNo, kYes };
  /// `program` has the fusion and its mesh. All programs given to predictors that share `known`
  /// differ only in meshes, shardings and the number of layers; of those with equal numbers of
  /// layers, either all are explained or none. `homes`: LowerOptions::homes. Errors: those of
  /// lowering and running.
  Expected<Prediction> predict(const Program& program, const std::string& fusion, Explain explain,
                               const NamedHomes* homes = nullptr);
  /// Frees what is only useful on the meshes seen so far.
  void forget_meshes() { moves_.clear(); }

 private:
  /// A fusion to run, or what is known about equal shardings.
  struct Lowering {
    interp::Prepared prepared;
    NamedHomes homes;
    std::string key;
    std::optional<Prediction> known;
  };
  Expected<Lowering> prepare(const Program& program, const std::string& fusion,
                             const NamedHomes* homes);
  bool is_one_for_all(const Function& host) const;

  PredictorOptions options_;
  KnownPredictions& known_;
  std::optional<Machine> file_machine_;  // used as the cost model of lowering, as in `run`
  // By meshes: candidates on the same meshes need the same reshards.
  std::map<std::string, std::unique_ptr<MeshMoves>> moves_;
};

}  // namespace hostir::api
