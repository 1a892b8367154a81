#include "traces/database/connection_pool.h"

namespace hostir::traces {

ConnectionPool::Lease::~Lease() {
  if (database_ == nullptr) return;
  database_->set_cancel({});
  const std::scoped_lock lock(pool_->mutex_);
  pool_->idle_.push_back(std::move(database_));
}

Expected<ConnectionPool::Lease> ConnectionPool::acquire(std::stop_token stop) {
  std::unique_ptr<Database> database;
  {
    const std::scoped_lock lock(mutex_);
    if (!idle_.empty()) {
      database = std::move(idle_.back());
      idle_.pop_back();
    }
  }
  if (database == nullptr) {
    HOSTIR_ASSIGN_OR_RETURN(Database opened, file_.connect());
    database = std::make_unique<Database>(std::move(opened));
    database->restrict_to_select();
  }
  if (stop.stop_possible()) {
    database->set_cancel([stop = std::move(stop)] { return stop.stop_requested(); });
  }
  return Lease(*this, std::move(database));
}

void ConnectionPool::close_all() {
  const std::scoped_lock lock(mutex_);
  idle_.clear();
}

}  // namespace hostir::traces
