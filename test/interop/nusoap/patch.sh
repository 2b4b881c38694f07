# Renames PHP 4 constructors in a copy of Debian's NuSOAP, because PHP 8 does not call them.
set -e
php -r '
  $source = file_get_contents("/usr/share/php/nusoap/nusoap.php");
  preg_match_all("/^class (\w+)/m", $source, $found);
  foreach ($found[1] as $class) {
    $source = preg_replace("/function\s+$class\s*\(/", "function __construct(", $source);
    $source = preg_replace("/parent::$class\s*\(/", "parent::__construct(", $source);
  }
  echo str_replace("\$this->nusoap_base(", "parent::__construct(", $source);
' > "$3/nusoap.php"
