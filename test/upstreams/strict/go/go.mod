module upstreams

go 1.21
