// Read-only connections to one log, for readers on any number of threads.
//
// A connection is used by one thread at a time; the destructor of a lease returns it. Connections
// allow only SELECT: a query cannot attach or write any file.
#pragma once

#include <memory>
#include <mutex>
#include <stop_token>
#include <vector>

#include "traces/database/sqlite.h"
#include "traces/reader/open_file.h"

namespace hostir::traces {

class ConnectionPool {
 public:
  explicit ConnectionPool(ReadableFile file) : file_(std::move(file)) {}

  class Lease {
   public:
    Lease(ConnectionPool& pool, std::unique_ptr<Database> database)
        : pool_(&pool), database_(std::move(database)) {}
    Lease(Lease&&) = default;
    Lease& operator=(Lease&&) = delete;
    ~Lease();
    Database& operator*() const { return *database_; }
    Database* operator->() const { return database_.get(); }

   private:
    ConnectionPool* pool_;
    std::unique_ptr<Database> database_;
  };

  /// A query on the connection ends with `log_cancelled` soon after `stop` is requested.
  Expected<Lease> acquire(std::stop_token stop = {});
  const ReadableFile& file() const { return file_; }
  void close_all();

 private:
  ReadableFile file_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<Database>> idle_;
};

}  // namespace hostir::traces
