exec ruby -W0 service.rb "$@"
