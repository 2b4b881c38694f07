exec lua5.1 service.lua "$@"
