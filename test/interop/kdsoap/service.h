// Helpers of the KDSoap programs for services.
#pragma once
#include "../cpp/service.h"
#include <QString>

inline Told text(const QString &value) { return value.toStdString(); }

// A value, or none where the proxy reports that its element is absent.
inline Told given(bool there, const Told &value) { return there ? value : Told(); }

// Throws the error of the proxy's last call if it failed.
template <class Proxy> void must(const Proxy &api) {
  if (!api.lastError().isEmpty()) throw std::runtime_error(api.lastError().toStdString());
}
