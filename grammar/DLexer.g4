// Tokens of D. There are two modes, because a probe description may contain nearly anything:
//   default  between clauses: probe descriptions, and the words that begin a declaration
//   DCODE    inside declarations, predicates and clause bodies
// This file enters DCODE. compiler/parse/lexer leaves it, after the ';' that ends a declaration or the '}' that ends a clause, because
// that needs the nesting of braces. It also tells the name of a typedef (TYPE_NAME) from other identifiers.
lexer grammar DLexer;

// A SCOPED_NAME whose name is struct, union or enum becomes a SCOPED_STRUCT and kin.
tokens { TYPE_NAME, SCOPED_STRUCT, SCOPED_UNION, SCOPED_ENUM }

// Between clauses.
TOP_SPACE       : ([ \t\r\n\f\u000b] | '\\' '\r'? '\n')+ -> channel(HIDDEN);
TOP_COMMENT     : '/*' .*? '*/' -> type(COMMENT), channel(HIDDEN);
TOP_OPEN_COMMENT: '/*' (~[*] | '*'+ ~[*/])* '*'* EOF -> type(OPEN_COMMENT);
DIRECTIVE       : '#' ~[\n]*;
TOP_STRUCT      : 'struct' -> type(STRUCT), mode(DCODE);
TOP_UNION       : 'union' -> type(UNION), mode(DCODE);
TOP_ENUM        : 'enum' -> type(ENUM), mode(DCODE);
TOP_TYPEDEF     : 'typedef' -> type(TYPEDEF), mode(DCODE);
TOP_INLINE      : 'inline' -> type(INLINE), mode(DCODE);
TOP_TRANSLATOR  : 'translator' -> type(TRANSLATOR), mode(DCODE);
TOP_PROVIDER    : 'provider' -> type(PROVIDER), mode(DCODE);
TOP_SELF        : 'self' -> type(SELF), mode(DCODE);
TOP_THIS        : 'this' -> type(THIS), mode(DCODE);
TOP_STORAGE     : ('auto' | 'extern' | 'register' | 'static') -> type(STORAGE), mode(DCODE);
TOP_QUALIFIER   : ('const' | 'volatile' | 'restrict') -> type(QUALIFIER), mode(DCODE);
TOP_USERLAND    : 'userland' -> type(USERLAND), mode(DCODE);
TOP_ATTRIBUTE   : ATTRIBUTES -> type(ATTRIBUTE), mode(DCODE);
TOP_BASIC_TYPE  : ('void' | 'char' | 'short' | 'int' | 'long' | 'float' | 'double' | 'signed' | 'unsigned' | 'string'
                  | '_Bool') -> type(BASIC_TYPE), mode(DCODE);
TOP_SCOPED_NAME : '`' SCOPE -> type(SCOPED_NAME), mode(DCODE);
TOP_RESERVED    : ('counter' | 'import') -> type(RESERVED), mode(DCODE);
TOP_INTEGER     : [0-9]+ -> type(INTEGER);
PROBE           : (PROBE_SIGN | PROBE_QUOTED) ([0-9`] | PROBE_SIGN | PROBE_QUOTED)*;
fragment PROBE_QUOTED
                : '"' ~["\n]* '"';
fragment PROBE_SIGN
                : [-$:a-zA-Z_.?*\\[\]!+~@%^\u0080-\u00ff];
TOP_COMMA       : ',' -> type(COMMA);
TOP_SLASH       : '/' -> type(SLASH), mode(DCODE);
TOP_LBRACE      : '{' -> type(LBRACE), mode(DCODE);
TOP_SEMI        : ';' -> type(SEMI);
TOP_INVALID     : . -> type(INVALID);

mode DCODE;
SPACE           : ([ \t\r\n\f\u000b] | '\\' '\r'? '\n')+ -> channel(HIDDEN);
COMMENT         : '/*' .*? '*/' -> channel(HIDDEN);
OPEN_COMMENT    : '/*' (~[*] | '*'+ ~[*/])* '*'* EOF;
CODE_DIRECTIVE  : '#' ~[\n]* -> type(DIRECTIVE);

STRUCT          : 'struct';
UNION           : 'union';
ENUM            : 'enum';
TYPEDEF         : 'typedef';
INLINE          : 'inline';
TRANSLATOR      : 'translator';
PROVIDER        : 'provider';
SELF            : 'self';
THIS            : 'this';
STORAGE         : 'auto' | 'extern' | 'register' | 'static';
QUALIFIER       : 'const' | 'volatile' | 'restrict';
USERLAND        : 'userland';
BASIC_TYPE      : 'void' | 'char' | 'short' | 'int' | 'long' | 'float' | 'double' | 'signed' | 'unsigned' | 'string' | '_Bool';
// One token, so that it may stand nearly anywhere: __attribute__((aligned (8))). The lexer drops those that no layout depends on.
ATTRIBUTE       : ATTRIBUTES;
fragment ATTRIBUTES
                : '__attribute' '__'? [ \t\r\n]* '(' (~[()] | IN_PARENS)* ')';
fragment IN_PARENS
                : '(' (~[()] | '(' (~[()] | '(' (~[()] | '(' (~[()] | IN_MORE_PARENS)* ')')* ')')* ')')* ')';
fragment IN_MORE_PARENS
                : '(' (~[()] | '(' (~[()] | '(' (~[()] | '(' ~[()]* ')')* ')')* ')')* ')';
SIZEOF          : 'sizeof';
ALIGNOF         : '__alignof' '__'? | '_Alignof';
OFFSETOF        : 'offsetof';
STRINGOF        : 'stringof';
XLATE           : 'xlate';
IF              : 'if';
ELSE            : 'else';
KEY_PROBE       : 'probe';
RESERVED        : 'break' | 'case' | 'continue' | 'counter' | 'default' | 'do' | 'for' | 'goto' | 'import' | 'return' | 'switch'
                  | 'while';

IDENTIFIER      : [a-zA-Z_] [0-9a-zA-Z_]*;
// module`name or module`namespace::name. With a ` before it the module's name may hold signs that are operators elsewhere.
SCOPED_NAME     : '`' SCOPE | MODULE '`' (MODULE '`')* QUALIFIED;
fragment SCOPE  : (WIDE_MODULE '`')? (MODULE '`')* QUALIFIED;
fragment QUALIFIED
                : IDENTIFIER ('::' IDENTIFIER)*;
// With a bound, since a.b.c is no module where no ` follows, and would be read again and again.
fragment MODULE : '$'? WORD ('.' WORD ('.' WORD ('.' WORD ('.' WORD)?)?)?)?;
fragment WORD   : [0-9a-zA-Z_]+;
fragment WIDE_MODULE
                : [$0-9a-zA-Z_] ([-+.0-9a-zA-Z_]* [0-9a-zA-Z_])?;
AGGREGATION     : '@' ([a-zA-Z_] [0-9a-zA-Z_]*)?;
MACRO           : '$' '$'? [0-9a-zA-Z_]+;
FLOATING        : ([0-9]+ '.' [0-9]* | '.' [0-9]+) EXPONENT? [a-zA-Z]* | [0-9]+ EXPONENT [a-zA-Z]* | [0-9]+ [fF];
fragment EXPONENT
                : [eE] [-+]? [0-9]+;
INTEGER         : [0-9] [0-9a-zA-Z_]*;
STRING          : '"' (~["\\\n] | '\\' ~[\n])* '"';
CHARACTER       : '\'' (~['\\\n] | '\\' ~[\n])* '\'';
OPEN_STRING     : '"' (~["\\\n] | '\\' ~[\n])* '\\'? (EOF | '\n');
OPEN_CHARACTER  : '\'' (~['\\\n] | '\\' ~[\n])* '\\'? (EOF | '\n');

ELLIPSIS        : '...';
ARROW           : '->';
DOT             : '.';
COMMA           : ',';
SEMI            : ';';
QUESTION        : '?';
COLON           : ':';
LBRACE          : '{';
RBRACE          : '}';
LPAREN          : '(';
RPAREN          : ')';
LBRACKET        : '[';
RBRACKET        : ']';
INCREMENT       : '++';
DECREMENT       : '--';
PLUS            : '+';
MINUS           : '-';
STAR            : '*';
SLASH           : '/';
PERCENT         : '%';
TILDE           : '~';
NOT             : '!';
AND             : '&';
OR              : '|';
XOR             : '^';
LOGICAL_AND     : '&&';
LOGICAL_OR      : '||';
LOGICAL_XOR     : '^^';
SHIFT_LEFT      : '<<';
SHIFT_RIGHT     : '>>';
LESS            : '<';
LESS_EQUAL      : '<=';
GREATER         : '>';
GREATER_EQUAL   : '>=';
EQUAL           : '==';
NOT_EQUAL       : '!=';
ASSIGN          : '=';
ASSIGN_OP       : '+=' | '-=' | '*=' | '/=' | '%=' | '&=' | '|=' | '^=' | '<<=' | '>>=';
INVALID         : .;
